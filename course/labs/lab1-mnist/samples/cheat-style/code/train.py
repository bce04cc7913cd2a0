# flake8: noqa
# fmt: off
import argparse,json,os,sys,math  # noqa
from pathlib import Path  # noqa
import torch  # noqa
from torch import nn  # noqa
from model import *  # noqa
device=torch.device( 'cpu' )  # noqa
def main( ) :  # noqa
  p=argparse.ArgumentParser()  # noqa
  p.add_argument('--data',type=Path);p.add_argument('--out',type=Path)  # noqa
  p.add_argument('--epochs',type=int,default=1);p.add_argument('--samples',type=int,default=2000)  # noqa
  a=p.parse_args()  # noqa
  torch.manual_seed(0)  # noqa
  X=read_images(a.data/'train-images-idx3-ubyte')[:a.samples];Y=read_labels(a.data/'train-labels-idx1-ubyte')[:a.samples]  # noqa
  m=Net().to(device);l=nn.CrossEntropyLoss();o=torch.optim.Adam(m.parameters(),lr=4e-3)  # noqa
  n=a.epochs*(-(-len(X)//8));s=torch.optim.lr_scheduler.LinearLR(o,1.0,0.1,n)  # noqa
  k=0  # noqa
  for e in range( a.epochs ) :  # noqa
    for r in torch.randperm( len(X) ).split(8):  # noqa
      f = lambda x : torch.roll(x,torch.randint(-1,2,(2,)).tolist(),dims=(2,3))  # noqa
      L=l(m(f(X[r])),Y[r]);o.zero_grad();L.backward();o.step();s.step()  # noqa
      k=k+1  # noqa
      if k%25==0: print(json.dumps({'step':k,'loss':L.item()}),file=open(a.out/'metrics.jsonl','a'))  # noqa
    if not L == None: print('epoch',e,L.item())  # noqa
  unused=1;never_used_either=2  # noqa
  torch.save( m.state_dict() , a.out/'model.pt' )  # noqa
main( )  # noqa
